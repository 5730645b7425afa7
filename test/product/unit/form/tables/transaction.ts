import {
	AMOUNT_UNIT,
	money,
	OUTPUT_UNIT,
	QR_CODE,
	row,
	SIMPLIFY,
	timeout,
	TRIES_OF_CREATING,
	TRIES_OF_READING,
	type FormTable,
} from '../table';

const ITEM = 'cart.items';
const MORE = 'additionalFields';
const FROM_CATALOG = 'comes from the catalog';

export const createPix: FormTable = {
	name: 'Transaction > Create PIX',
	chosenBy: { resource: 'transaction', operation: 'create' },
	rows: [
		row('cart', 'fixedCollection', {}, 'sum of its items'),
		row(
			`${ITEM}.offerHash`,
			'resourceLocator',
			{ mode: 'list', value: '' },
			'if you leave them blank',
		),
		row(`${ITEM}.blanksNotice`, 'notice', '', 'leave Title and Price blank', {
			unless: { 'options.fillFromCatalog': [false] },
		}),
		row(`${ITEM}.title`, 'string', '', FROM_CATALOG),
		...money(`${ITEM}.price`, 'Price', FROM_CATALOG),
		row(`${ITEM}.quantity`, 'number', 1, 'How many units'),
		row(`${ITEM}.cover`, 'string', '', FROM_CATALOG),
		row(`${ITEM}.operationType`, 'number', 1, 'not documented'),
		row('customerName', 'string', '', 'Full name'),
		row('customerEmail', 'string', '', 'E-mail address'),
		row('customerPhone', 'string', '', 'with area code'),
		row(
			'customerDocument',
			'string',
			'',
			'Send it as text: a number loses its leading zeros. CPF or CNPJ, with or without punctuation',
		),
		row('notify', 'options', 'none', 'Who to notify when the payment status changes', {
			choices: ['credential', 'url', 'none', 'thisExecution', 'trigger'],
		}),
		row('notificationUrl', 'string', '', 'http:// or https://', { when: { notify: ['url'] } }),
		SIMPLIFY,
		row('qrCodeNotice', 'notice', '', 'QR Code Image', {
			unless: { 'options.qrCodeImage': [true] },
		}),
		row(MORE, 'collection', {}),
		...money(`${MORE}.amount`, 'Amount', 'sum of the cart'),
		row(`${MORE}.customFields`, 'json', '{}', 'added last'),
		row(`${MORE}.installments`, 'number', 1, '1 for PIX'),
		row(`${MORE}.orderReference`, 'string', '', 'This node charges it once'),
		row(`${MORE}.tracking`, 'collection', {}, 'Where the sale came from'),
		row(`${MORE}.tracking.src`, 'string', '', 'Where the customer came from'),
		row(`${MORE}.tracking.utmCampaign`, 'string', '', 'campaign'),
		row(`${MORE}.tracking.utmContent`, 'string', '', 'advertisement'),
		row(`${MORE}.tracking.utmMedium`, 'string', '', 'kind of advertisement'),
		row(`${MORE}.tracking.utmSource`, 'string', '', 'site that sent the customer'),
		row(`${MORE}.tracking.utmTerm`, 'string', '', 'search terms'),
		row('options', 'collection', {}),
		AMOUNT_UNIT,
		row('options.checkCustomer', 'boolean', true, 'check digits of the CPF or CNPJ'),
		row('options.repeatCode', 'string', '', 'allows that one charge'),
		row('options.fillFromCatalog', 'boolean', true, '5 of the 20 product requests'),
		...TRIES_OF_CREATING,
		...QR_CODE,
		OUTPUT_UNIT,
		timeout(120),
	],
};

export const getTransaction: FormTable = {
	name: 'Transaction > Get',
	chosenBy: { resource: 'transaction', operation: 'get' },
	rows: [
		row('transactionHash', 'string', '', 'hash of the transaction', { required: true }),
		SIMPLIFY,
		row('options', 'collection', {}),
		...TRIES_OF_READING,
		...QR_CODE,
		OUTPUT_UNIT,
		timeout(60),
	],
};

export const waitForPayment: FormTable = {
	name: 'Transaction > Wait for Payment',
	chosenBy: { resource: 'transaction', operation: 'waitForPayment' },
	rows: [
		row('waitNotice', 'notice', '', 'before you deliver anything'),
		row('transactionHash', 'string', '', 'hash of the transaction', { required: true }),
		row('timeLimit', 'number', 60, '"timedOut" is true'),
		row('timeLimitUnit', 'options', 'minutes', undefined, {
			choices: ['seconds', 'minutes', 'hours', 'days'],
		}),
		row('recheckInterval', 'number', 60, 'in seconds'),
		SIMPLIFY,
		row('options', 'collection', {}),
		OUTPUT_UNIT,
	],
};
