export { closeSharedN8n as default } from './sharedN8n';
