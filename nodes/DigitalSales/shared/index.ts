export * from './clock';
export * from './deferred';
export * from './eachLimit';
export * from './json';
export * from './lock';
export * from './patiently';
export * from './processState';
