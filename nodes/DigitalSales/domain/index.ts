export * from './customer';
export * from './money';
export * from './paymentStatus';
export * from './reference';
export * from './text';
export * from './webAddress';
