import {
	parseNotification,
	type Notification,
} from '../../nodes/DigitalSales/api/schemas/notification';

describe('What a notification claims', () => {
	const resource = {
		hash: 'ab12',
		payment_status: 'paid',
		payment_method: 'pix',
		amount: 1990,
		transaction: 'a reference',
	};
	const flat = { transaction_hash: 'ab12', status: 'paid', method: 'pix', amount: '1990' };
	const envelope = { id: 4711, transaction: { id: 'ab12', status: 'paid', method: 'pix' } };
	const paid = { hash: 'ab12', status: 'paid' };
	const tested = { ...paid, isTest: true };

	test.each<[string, unknown, Partial<Notification>]>([
		['the transaction itself', resource, paid],
		['the transaction under data', { data: resource }, paid],
		['a flat summary', flat, paid],
		['an envelope', envelope, paid],
		['an envelope under data', { data: envelope }, paid],
		['a list of one', [flat], paid],
		['a list of one under data', { data: [flat] }, paid],
		['JSON as a text under data', { data: JSON.stringify(flat) }, paid],
		['a summary under payload', { payload: flat }, paid],
		['a test', { ...resource, test: 'true' }, tested],
		['a test under data', { data: { ...flat, event: 'webhook_teste' } }, tested],
		[
			'an abandoned cart',
			{ ...flat, status: 'cart_abandoned' },
			{ ...paid, status: 'cart_abandoned', isAbandoned: true },
		],
		['a cart that was recovered', { ...flat, event: 'abandoned_cart_recovered' }, paid],
		['a word that only contains test', { ...flat, event: 'contest' }, paid],
		[
			'any status, as it is',
			{ hash: 'ab12', status: 'Em Análise' },
			{ hash: 'ab12', status: 'Em Análise' },
		],
		['an id that begins with digits', { transaction: { id: '47ab' } }, { hash: '47ab' }],
		['an id that happens to have digits only', { transaction: { id: ' 4711 ' } }, { hash: '4711' }],
		['an envelope with a hash', { transaction: { hash: 'ab12', id: 'cd34' } }, { hash: 'ab12' }],
		['blanks around all of it', { hash: ' ab12 ', payment_status: ' paid\n' }, paid],
		[
			'more than one status: the transaction’s own',
			{ ...resource, status: 'x', transaction: { status: 'y' } },
			paid,
		],
		[
			'a status next to that of the envelope',
			{ ...envelope, status: 'waiting' },
			{ ...paid, status: 'waiting' },
		],
		[
			'blanks and numbers in place of texts',
			{ hash: 'ab12', payment_status: ' ', status: 3 },
			{ hash: 'ab12' },
		],
		[
			'a status that is too long, which is ignored',
			{ hash: 'ab12', status: 'x'.repeat(201) },
			{ hash: 'ab12' },
		],
		['two hashes: the more specific', { hash: 'ab12', transaction_hash: 'cd34' }, { hash: 'cd34' }],
		[
			'a hash of the event, and a more specific hash under data',
			{ hash: 'evt_1', status: 'ok', data: { transaction_hash: 'ab12', status: 'paid' } },
			paid,
		],
		[
			'a hash of the event, and a transaction under payload',
			{ hash: 'evt_1', payload: { transaction: { hash: 'ab12', status: 'paid' } } },
			paid,
		],
		[
			'a hash of the event, and the transaction itself under data',
			{ hash: 'evt_1', event: 'transaction', data: resource },
			paid,
		],
		['the transaction under payload next to empty data', { data: {}, payload: resource }, paid],
		[
			'a hash next to the data of something else',
			{ ...resource, data: { transaction: { id: 'cd34' } } },
			paid,
		],
		['a blank hash and another', { hash: ' ', transaction_hash: 'cd34' }, { hash: 'cd34' }],
		['a hash that is a number', { hash: 4711 }, { hash: '4711' }],
		['the longest hash', { hash: 'a'.repeat(200) }, { hash: 'a'.repeat(200) }],
	])('is read from %s', (_name, body, expected) => {
		expect(parseNotification(body)).toEqual({ isTest: false, isAbandoned: false, ...expected });
	});

	test.each<[string, unknown]>([
		['the number of the platform’s own', { id: 4711, status: 'paid' }],
		['a text at its place', { id: 'ab12', status: 'paid' }],
		['a number in an envelope', { transaction: { id: 4711 } }],
		['the reference of a resource', { transaction: 'ab12' }],
		['a list of two in place of the transaction', { transaction: [{ hash: 'ab12' }, {}] }],
		['a hash that is no whole number', { hash: 4.5 }],
		['a hash that is too large for a number', { hash: 1e21 }],
		['a hash that is too long', { hash: 'a'.repeat(201) }],
		['a hash that would lead elsewhere', { hash: ' .. ' }],
		['data within data', { data: { data: { hash: 'ab12' } } }],
		['a list of two under data', { data: [{ hash: 'ab12' }, { hash: 'cd34' }] }],
		['a text', 'ab12'],
		['nothing', null],
		['no body', undefined],
	])('is nothing if there is %s', (_name, body) => {
		expect(parseNotification(body)).toBeUndefined();
	});
});
