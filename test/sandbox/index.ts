export { startSandbox, type Sandbox } from './sandbox';
export type { QrImageStyle } from './api/transactionShape';
export type { SandboxOptions, QueryMeaning } from './options';
export type { Fault, FaultKind, Endpoint, PaginationLie } from './faults/types';
export type { RecordedRequest } from './http/requestLog';
export type { DeliveryReport } from './notices/notifier';
export { NOTICE_SHAPES, noticeBody, type NoticeShape } from './notices/shapes';
export type { CreatedOffer, Interval, Offer, Product, StoredTransaction } from './types';
