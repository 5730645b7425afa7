export * from './reply';
