import { once } from 'node:events';
import { ROOT } from '../../host/n8n/paths';
import { startGroup } from '../../host/n8n/processes';
import { messageOf, say } from '../../host/n8n/terminal';
import { installN8nNode } from './install';

async function main(args: string[]): Promise<void> {
	const child = startGroup(await installN8nNode(), args, { cwd: ROOT, stdio: 'inherit' });
	const [code] = await once(child, 'exit');
	process.exitCode = code === 0 ? 0 : 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
