export * from './parse';
export * from './reply';
export * from './verify';
