import { readNotice, type Notice } from '../../../../nodes/DigitalSales/notice/parse';

describe('What a notification claims', () => {
	const resource = {
		hash: 'ab12',
		payment_status: 'paid',
		payment_method: 'pix',
		product: { hash: 'p1', title: 'Curso' },
		offer: { hash: 'o1', price: 990 },
		amount: 1990,
		transaction: 'a reference',
	};
	const flat = { transaction_hash: 'ab12', status: 'paid', method: 'pix', amount: '1990' };
	const envelope = {
		id: 4711,
		transaction: { id: 'ab12', status: 'paid', method: 'pix', amount: '1990' },
		product: { hash: 'p1' },
		offer: { hash: 'o1' },
	};
	const summary = { hash: 'ab12', status: 'paid', paymentMethod: 'pix', amount: 1990 };
	const whole = { ...summary, productHash: 'p1', offerHash: 'o1' };

	test.each<[string, unknown, Notice]>([
		['the transaction itself', resource, whole],
		['the transaction under data', { data: resource }, whole],
		['a flat summary', flat, summary],
		['a summary under data', { status: 'x', data: flat }, summary],
		['an envelope', envelope, whole],
		['an envelope under data', { data: envelope }, whole],
		['the usual event', { ...resource, event: ' Transaction' }, whole],
		['another event', { ...envelope, event: 'renewal' }, { ...whole, event: 'renewal' }],
		[
			'events in two places: the outer one',
			{ event: 'x', data: { ...resource, event: 'transaction' } },
			{ ...whole, event: 'x' },
		],
		['an event under data', { data: { ...flat, event: 'x' } }, { ...summary, event: 'x' }],
		['a number for an event, which names none', { hash: 'ab12', event: 3 }, { hash: 'ab12' }],
		['an id that begins with digits', { transaction: { id: '47ab' } }, { hash: '47ab' }],
		['an id that ends with digits', { transaction: { id: 'ab47' } }, { hash: 'ab47' }],
		['an envelope with a hash', { transaction: { hash: 'ab12', id: 'cd34' } }, { hash: 'ab12' }],
		[
			'blanks around all of it',
			{
				hash: ' ab12 ',
				payment_status: ' paid',
				payment_method: 'pix\n',
				product: { hash: ' p1 ' },
				offer: { hash: ' o1 ' },
				amount: ' 1990 ',
			},
			whole,
		],
		[
			'more than one status and method: the transaction’s own',
			{ ...resource, status: 'x', method: 'x', transaction: { status: 'y', method: 'y' } },
			whole,
		],
		[
			'a status beside that of the envelope',
			{ ...envelope, status: 'waiting', method: 'card' },
			{ ...whole, status: 'waiting', paymentMethod: 'card' },
		],
		[
			'blanks and numbers in place of texts',
			{ hash: 'ab12', payment_status: ' ', status: 3, payment_method: '', product: { hash: 7 } },
			{ hash: 'ab12' },
		],
		['no objects where some belong', { hash: 'ab12', product: 'p1' }, { hash: 'ab12' }],
		['lists where objects belong', { hash: 'ab12', product: [{ hash: 'p1' }] }, { hash: 'ab12' }],
		['two hashes: the first', { hash: 'ab12', transaction_hash: 'cd34' }, { hash: 'ab12' }],
		['a blank hash and another', { hash: ' ', transaction_hash: 'cd34' }, { hash: 'cd34' }],
		['amounts in two places: the nearer one', { ...envelope, amount: 5 }, { ...whole, amount: 5 }],
		...[19.9, '19.90', 'R$ 19,90', ' ', true, [1990], 1e20, Infinity, '9'.repeat(17)].map(
			(amount): [string, unknown, Notice] => [
				`${JSON.stringify(amount)} for an amount, which is no number of cents`,
				{ hash: 'ab12', amount },
				{ hash: 'ab12', amount: 'unreadable' },
			],
		),
		['no text for an amount, which states none', { hash: 'ab12', amount: '' }, { hash: 'ab12' }],
		['null for an amount, which states none', { hash: 'ab12', amount: null }, { hash: 'ab12' }],
		['a hash of digits', { hash: '4711' }, { hash: '4711' }],
		['the longest hash', { hash: 'a'.repeat(200) }, { hash: 'a'.repeat(200) }],
	])('is read from %s', (_name, body, expected) => {
		expect(readNotice(body)).toEqual(expected);
	});

	test.each<[string, unknown]>([
		['the number of the service’s own', { id: 4711, status: 'paid' }],
		['a text at its place', { id: 'ab12', status: 'paid' }],
		['a number in an envelope', { transaction: { id: 4711 } }],
		['a number as a text in an envelope', { transaction: { id: ' 4711 ' } }],
		['the reference of a resource', { transaction: 'ab12' }],
		['a list in place of the transaction', { transaction: [{ hash: 'ab12' }] }],
		['a hash that is a number', { hash: 4711 }],
		['a hash that is too long', { hash: 'a'.repeat(201) }],
		['a hash that would lead elsewhere', { hash: ' .. ' }],
		['data within data', { data: { data: { hash: 'ab12' } } }],
		['a list under data', { data: [{ hash: 'ab12' }] }],
		['a list', [{ hash: 'ab12' }]],
		['a text', 'ab12'],
		['nothing', null],
		['no body', undefined],
	])('is nothing where there is %s', (_name, body) => {
		expect(readNotice(body)).toBeUndefined();
	});
});
