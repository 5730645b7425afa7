import path from 'node:path';
import pick from 'lodash/pick';
import { startN8n } from '../../helpers/n8n/n8n';
import { messageOf, say, step } from '../../helpers/n8n/terminal';
import { charges, gets, list } from './actions';
import type { Row } from './measure';
import { notices } from './notices';
import { waits } from './waits';

const GROUPS = { list, gets, charges, notices, waits };

/** Measures the named groups, or all. Returns whether all goals are met. */
async function main(names: string[]): Promise<boolean> {
	const groups = names.length === 0 ? GROUPS : pick(GROUPS, names);
	if (Object.keys(groups).length < names.length)
		throw new Error(`The groups are ${Object.keys(GROUPS).join(', ')}.`);

	const env = { N8N_CUSTOM_EXTENSIONS: path.join(__dirname, 'floor') };
	const start = async () => await startN8n('bench', { sandbox: { qrImage: 'absent' }, env });
	const n8n = await step('Building, and starting n8n', start);
	const rows: Row[] = [];
	try {
		for (const [name, measure] of Object.entries(groups)) {
			const measured = await step(name, async () => await measure(n8n));
			say(`${measured.map(({ text }) => text).join('\n')}\n`);
			rows.push(...measured);
		}
	} finally {
		await n8n.close();
	}

	const met = rows.filter(({ isMet }) => isMet).length;
	say(`${met} of ${rows.length} goals met.`);
	return met === rows.length;
}

main(process.argv.slice(2))
	.catch((error: unknown) => say(messageOf(error)))
	// Ends the platforms as well, which the groups leave open.
	.then((isMet) => process.exit(isMet ? 0 : 1));
