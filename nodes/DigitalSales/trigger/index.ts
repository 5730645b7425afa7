export * from './execute';
export * from './form';
export * from './receive';
export * from './testEvent';
