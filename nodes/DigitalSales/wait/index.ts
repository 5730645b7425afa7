export * from './paymentWait';
export * from './wake';
