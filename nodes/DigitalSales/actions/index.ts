export * from './registry';
export * from './router';
