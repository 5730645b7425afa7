import { row, type FormTable } from '../table';

export const credential: FormTable = {
	name: 'Digital Sales API',
	chosenBy: {},
	rows: [
		row('baseUrl', 'string', '', 'version included', { required: true }),
		row('apiToken', 'string', '', 'only to the host of the Base URL', { required: true }),
		row('bodyApiToken', 'string', '', 'Leave empty unless'),
		row('notificationUrl', 'string', '', 'production URL of a Digital Sales Trigger'),
	],
};
