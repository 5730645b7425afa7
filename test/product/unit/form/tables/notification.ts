import { row, type FormTable } from '../table';

export const getAddress: FormTable = {
	name: 'Notification > Get Address',
	chosenBy: { resource: 'notification', operation: 'getAddress' },
	rows: [row('addressNotice', 'notice', '', 'Notification URL of the credential')],
};
