export * from './createOnce';
export * from './decisions';
export * from './fingerprints';
export * from './keys';
export * from './memory';
