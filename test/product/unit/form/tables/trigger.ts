import { OUTPUT_UNIT, row, SIMPLIFY, type FormTable } from '../table';

export const trigger: FormTable = {
	name: 'Digital Sales Trigger',
	chosenBy: {},
	rows: [
		row('addressNotice', 'notice', '', 'finds this trigger automatically'),
		row('triggerOn', 'multiOptions', ['paid'], 'start the workflow', {
			choices: ['any', 'other', 'paid', 'reversed', 'failed', 'waiting'],
		}),
		row('otherStatuses', 'string', '', 'separated by commas', { when: { triggerOn: ['other'] } }),
		SIMPLIFY,
		row('filters', 'collection', {}),
		row('filters.minimumAmount', 'string', '', 'of this amount or more', {
			label: 'Minimum Amount in Reais',
		}),
		row('filters.offerHashes', 'string', '', 'separated by commas'),
		row('filters.paymentMethods', 'multiOptions', ['pix'], 'one of these ways', {
			choices: ['boleto', 'credit_card', 'pix'],
		}),
		row('filters.productHashes', 'string', '', 'separated by commas'),
		row('options', 'collection', {}),
		row('options.deduplicate', 'boolean', true, 'only once for each transaction and status'),
		row('options.includeNotification', 'boolean', false, 'Nothing in it is verified'),
		row('options.urlSecret', 'boolean', false, 'reject every notification'),
		OUTPUT_UNIT,
		row('options.verify', 'boolean', true, 'a payment that never happened'),
	],
};
