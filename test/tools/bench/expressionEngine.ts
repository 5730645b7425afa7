import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { installHost } from '../../host/n8n/host';
import { HOST_FOLDER } from '../../host/n8n/paths';

const LIBRARY = path.join(HOST_FOLDER, 'node_modules', '@n8n', 'expression-runtime');
const TIMES = 21;

const SCRIPT = `
	const { IsolatedVmBridge } = require(process.argv[1]);
	const times = [];
	(async () => {
		for (let time = 0; time < ${TIMES}; time++) {
			const start = performance.now();
			const engine = new IsolatedVmBridge({ timeout: 5000, memoryLimit: 128 });
			await engine.initialize();
			await engine.dispose();
			times.push(performance.now() - start);
		}
		console.log(times.sort((a, b) => a - b)[${(TIMES - 1) / 2}]);
	})();
`;

/** How long n8n takes to prepare one of its engines for expressions and to end it, in milliseconds. */
export async function expressionEngineMs(): Promise<number> {
	const { node } = await installHost();
	const { stdout } = await promisify(execFile)(node, ['--no-node-snapshot', '-e', SCRIPT, LIBRARY]);
	return Number(stdout);
}
