export * from './customer';
export * from './money';
export * from './paymentStatus';
export * from './pixCode';
export * from './text';
export * from './webAddress';
