import {
	customerText,
	parseDocument,
	parseEmail,
	parsePhone,
} from '../../../nodes/DigitalSales/domain/customer';
import { parseCents } from '../../../nodes/DigitalSales/domain/money';
import type { Result } from '../../../nodes/DigitalSales/domain/text';
import { AMOUNTS, DOCUMENTS, EMAILS, NAMES, PHONES, type Typed } from '../../helpers/typed';

describe.each<[string, Typed[], (input: unknown) => Result<unknown>]>([
	['A phone', PHONES, parsePhone],
	['An amount', AMOUNTS, parseCents],
	['A CPF or CNPJ', DOCUMENTS, parseDocument],
	['An e-mail', EMAILS, parseEmail],
	['A name', NAMES, (input) => ({ value: customerText(input) })],
])('%s', (_field, table, parse) => {
	test.each(table)('typed as $typed', ({ typed, means, because = '' }) => {
		const problem: unknown = expect.stringContaining(because);
		expect(parse(typed)).toEqual(means === undefined ? { problem } : { value: means });
	});
});
