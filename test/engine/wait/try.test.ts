import { clock } from '../../../nodes/DigitalSales/api/clock';
import { processState } from '../../../nodes/DigitalSales/api/processState';
import { ACTION_TYPE, NO_OP_TYPE, runWorkflow, START_TYPE } from '../harness';
import { openAccount, pixParameters, type Account } from '../support/account';
import { fasterTime } from '../../support/scaledTime';

let account: Account;
let restore: () => void;
beforeAll(async () => {
	account = await openAccount({ resendAfterSeconds: [] });
});
beforeEach(() => {
	account.reset();
	restore = fasterTime(clock, 20);
});
afterEach(() => {
	processState.watches.clear();
	restore();
});
afterAll(async () => await account.sandbox.close());

test('goes', async () => {
	const run = await runWorkflow({
		nodes: [
			{ name: 'Start', type: START_TYPE },
			{ name: 'Charge', type: ACTION_TYPE, parameters: pixParameters(account.sandbox, { notify: 'thisExecution' }) },
			{ name: 'Wait {it}', type: ACTION_TYPE, parameters: { resource: 'transaction', operation: 'waitForPayment', transactionHash: '={{ $json.hash }}' } },
			{ name: 'After', type: NO_OP_TYPE },
		],
		mode: 'trigger',
		credentials: account.credentials,
	});
	console.log(run.status, run.error, run.hints, JSON.stringify(run.data['Wait {it}']?.items));
	const t = Date.now();
	console.log(await account.sandbox.pay(account.sandbox.transactions[0]!.hash));
	const end = await run.parked?.finished;
	console.log(Date.now() - t, end?.status, JSON.stringify(end?.data.After?.items));
});
