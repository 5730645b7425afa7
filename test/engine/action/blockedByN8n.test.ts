import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { setSsrfProtection } from '../../helpers/engine';
import { type Account, errorIn, openAccount, pixParameters } from '../../helpers/account';
import { useTimeLapse } from '../../helpers/timeLapse';

describe("A request that n8n's SSRF protection blocks", () => {
	let account: Account;

	useTimeLapse();
	beforeAll(async () => {
		setSsrfProtection(true);
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => {
		setSsrfProtection(false);
		await account.sandbox.close();
	});

	test.each([
		['charge', () => pixParameters(account.sandbox)],
		['read', () => ({ resource: 'transaction', operation: 'get', transactionHash: 'ab12' })],
	])('fails at once, and its error says that it was not sent: a %s', async (...given) => {
		const [, parameters] = given;
		const options = { mode: 'trigger', workflowId: 'blocked', continueOnFail: true } as const;
		const started = clock.elapsed();

		for (const _attempt of [1, 2]) {
			const { json } = await account.run(parameters(), options);

			expect(errorIn(json[0])).toMatchObject({
				message: 'n8n blocked the request to the host of the platform',
				advice: expect.stringContaining('Correct the host in Base URL of the credential'),
				outcome: 'notSent',
				status: null,
			});
		}
		expect(clock.elapsed() - started).toBe(0);
		expect(account.sandbox.requests).toEqual([]);
	});
});
