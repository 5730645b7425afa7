export * from './clock';
export * from './json';
export * from './processState';
export * from './tasks';
