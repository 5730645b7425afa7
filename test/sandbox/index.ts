export { startSandbox, type Sandbox } from './sandbox';
export type { SandboxOptions } from './options';
export type { Fault, Endpoint } from './faults';
export { NOTICE_SHAPES, noticeBody, type NoticeShape } from './shapes';
export type { Offer, Product, StoredTransaction } from './types';
