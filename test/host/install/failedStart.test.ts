import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as instance from '../n8n/instance';
import { EmptyN8n } from './stage/emptyN8n';

const NAME = 'failed-start';
const folders = (): string[] =>
	readdirSync(tmpdir()).filter((name) => name.startsWith(`digital-sales-${NAME}-`));

/** What the process keeps open: children and servers. */
const kept = (): string[] =>
	process.getActiveResourcesInfo().filter((name) => /ProcessWrap|TCPServerWrap/.test(name));

// A suite ends only when nothing is left open.
test('if n8n does not start, neither its folder nor the registry nor the sandbox stays', async () => {
	jest.spyOn(instance, 'spawnN8n').mockRejectedValue(new Error('n8n did not start.'));
	const before = { folders: folders(), kept: kept() };
	await expect(EmptyN8n.open(NAME)).rejects.toThrow('n8n did not start.');
	expect({ folders: folders(), kept: kept() }).toEqual(before);
});
