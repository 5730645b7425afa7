export { startSandbox, type Sandbox } from './sandbox';
export type { QrImageStyle } from './shapes';
export type { SandboxOptions } from './options';
export type { Fault, FaultKind, Endpoint } from './faults';
export type { RecordedRequest } from './parts';
export type { DeliveryReport } from './notices';
export { NOTICE_SHAPES, noticeBody, type NoticeShape } from './shapes';
export type { CreatedOffer, Interval, Offer, Product, StoredTransaction } from './types';
