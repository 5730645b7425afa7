export * from './attempts';
export * from './createOnce';
export * from './creation';
export * from './earlier';
export * from './executionMemory';
export * from './fingerprints';
export * from './itemOrder';
export * from './keys';
