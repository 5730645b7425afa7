import * as fc from 'fast-check';
import { serveWebhook } from '../helpers/engine';
import { openAccount } from '../helpers/account';
import { transactionAt } from '../helpers/charge';
import { sequences } from '../helpers/extent';
import { bodiesLike, contentTypes } from '../helpers/notices';

const BATCHES = sequences(1, 60);
const BATCH = 50;
const SEED = Number(process.env.NOTICE_SEED ?? 20_261_120);

test('random bodies and forged webhooks are answered, and start nothing', async () => {
	const { sandbox, credentials } = await openAccount();
	const trigger = await serveWebhook({ credentials, parameters: { triggerOn: ['any'] } });
	const statuses: number[] = [];
	const notice = fc.tuple(bodiesLike(await transactionAt(sandbox)), contentTypes);
	const post = async ([body, type]: [string, string]): Promise<number> => {
		const headers = { 'content-type': type };
		return (await trigger.send({ body: Buffer.from(body), headers })).status;
	};

	await fc.assert(
		fc.asyncProperty(fc.array(notice, { minLength: BATCH, maxLength: BATCH }), async (notices) => {
			const answers = await Promise.all(notices.map(post));
			statuses.push(...answers);
			// 422 is n8n's own answer to broken JSON.
			expect(answers.filter((status) => ![200, 400, 422, 503].includes(status))).toEqual([]);
		}),
		{ numRuns: BATCHES, seed: SEED },
	);

	expect(statuses).toHaveLength(BATCHES * BATCH);
	expect(trigger.emitted).toEqual([]);
	await trigger.settled();
	trigger.stopListening();
	expect(trigger.thrown).toEqual([]);
	await sandbox.close();
});
