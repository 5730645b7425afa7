export * from './createOnce';
export * from './itemOrder';
export * from './keys';
export * from './memory';
