export * from './dedupe';
export * from './form';
export * from './receive';
export * from './testEvent';
