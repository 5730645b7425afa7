import { EventEmitter } from 'node:events';
import type { IWebhookFunctions } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { handOver, isBacklogged, unanswered } from '../../../../nodes/DigitalSales/trigger/receive';

describe('Whether n8n would answer the next notice too late', () => {
	let now: number;
	let responses: EventEmitter[];

	beforeEach(() => {
		[now, responses] = [1_000_000, []];
		unanswered.clear();
		jest.spyOn(clock, 'elapsed').mockImplementation(() => now);
	});
	afterEach(() => jest.restoreAllMocks());

	const hand = (count: number): void => {
		for (let nth = 0; nth < count; nth++) {
			const response = new EventEmitter();
			const getResponseObject = () => response;
			const context = { getResponseObject } as unknown as IWebhookFunctions;
			handOver(context, `notice ${responses.length}`, false);
			responses.push(response);
		}
	};
	/** Its answer goes out, or its sender leaves. */
	const close = (nth: number): void => void responses[nth]?.emit('close');

	test('not if it stores none', () => {
		expect(isBacklogged()).toBe(false);
	});

	test('with eighty at once, until one of them is answered', () => {
		hand(79);
		expect(isBacklogged()).toBe(false);
		hand(1);
		expect(isBacklogged()).toBe(true);
		close(0);
		expect(isBacklogged()).toBe(false);
	});

	test('if the oldest waits for three seconds', () => {
		hand(1);
		now += 2_999;
		hand(1);
		expect(isBacklogged()).toBe(false);
		now += 1;
		expect(isBacklogged()).toBe(true);
		close(1);
		expect(isBacklogged()).toBe(true);
	});
});
