import path from 'node:path';

export const ROOT = path.resolve(__dirname, '..', '..', '..');
export const PACKAGE_NAME = 'n8n-nodes-digital-sales';
export const CREDENTIAL_TYPE = 'digitalSalesApi';

/** A folder in `test/helpers/n8n-host`; empty for the pinned n8n. */
const OTHER_HOST = process.env.N8N_HOST ?? '';
export const HOST_CONFIGURATION = path.join(ROOT, 'test', 'helpers', 'n8n-host', OTHER_HOST);
export const HOST_FOLDER =
	OTHER_HOST === '' ? path.join(ROOT, '.n8n-host') : path.join(ROOT, '.n8n-hosts', OTHER_HOST);
export const DATA_FOLDER = path.join(ROOT, '.n8n-data');
