export * from './createOnce';
export * from './keys';
export * from './memory';
