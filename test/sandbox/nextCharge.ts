import type { FastifyInstance } from 'fastify';
import type { Fault } from './faults';
import type { SandboxParts } from './parts';

/** What a person can let happen to the next charge. */
const CHOICES: Array<{ what: string; fault?: Fault }> = [
	{ what: 'succeeds' },
	{ what: 'answer lost after it was made', fault: { kind: 'resetAfterProcessing' } },
	{ what: 'refused', fault: { kind: 'refused' } },
	{ what: 'slow', fault: { kind: 'delay', ms: 20_000 } },
];

export function registerNextCharge(app: FastifyInstance, { faults }: SandboxParts): void {
	app.post('/sandbox/next-charge', async ({ body }, reply) => {
		const next = new URLSearchParams(String(body)).get('next');
		const fault = CHOICES.find(({ what }) => what === next)?.fault;
		faults.clear();
		if (fault) faults.add({ ...fault, endpoint: 'POST /transactions' });
		return await reply.redirect('/', 303);
	});
}

/** The form, which shows what the next charge will meet. */
export function renderNextCharge({ faults }: SandboxParts): string {
	const chosen = CHOICES.find(({ fault }) => fault && faults.has(fault.kind));
	const options = CHOICES.map(
		(choice) => `<option${choice === chosen ? ' selected' : ''}>${choice.what}</option>`,
	);
	return `<form method="post" action="/sandbox/next-charge">
		<label>Next charge: <select name="next" onchange="this.form.submit()">${options.join('')}</select></label>
	</form>`;
}
