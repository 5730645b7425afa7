export * from './clock';
export * from './digest';
export * from './eachLimit';
export * from './json';
export * from './lenient';
export * from './lock';
export * from './processState';
