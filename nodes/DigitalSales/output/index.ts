export * from './errors';
export * from './product';
export * from './transaction';
