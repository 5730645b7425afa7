export * from './execution';
export * from './httpHelper';
export * from './parking';
export * from './processedItems';
export * from './triggers';
export * from './webhook';
