export * from './read';
export * from './reply';
