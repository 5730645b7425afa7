export * from './advice';
export * from './errors';
export * from './product';
export * from './transaction';
