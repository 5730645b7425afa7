import path from 'node:path';

export const ROOT = path.resolve(__dirname, '..', '..');
export const PACKAGE_NAME = 'n8n-nodes-digital-sales';
export const HOST_CONFIGURATION = path.join(ROOT, 'test', 'n8n-host');
export const HOST_FOLDER = path.join(ROOT, '.n8n-host');
export const DATA_FOLDER = path.join(ROOT, '.n8n-data');
export const EXAMPLES_FOLDER = path.join(ROOT, 'examples');
