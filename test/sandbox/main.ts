import { parseArgs } from 'node:util';
import { startSandbox } from './index';

const HELP = `Usage: npm run sandbox -- [options]
  --port <n>          port on 127.0.0.1 (4010)
  --clock-scale <n>   60: a sandbox minute takes a second (1)
  --products <n>      size of the catalog (137)
  --latency <ms>      before each API answer (0)`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: '4010' },
			'clock-scale': { type: 'string', default: '1' },
			products: { type: 'string', default: '137' },
			latency: { type: 'string', default: '0' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(HELP);
		return;
	}
	const sandbox = await startSandbox({
		port: toNumber('port', values.port),
		clockScale: toNumber('clock-scale', values['clock-scale']),
		products: toNumber('products', values.products),
		latencyMs: toNumber('latency', values.latency),
	});
	console.log(`Digital Sales sandbox
  Base URL        ${sandbox.baseUrl}
  Page            ${sandbox.pageUrl}
  API token       ${sandbox.apiToken}
  Body API token  ${sandbox.bodyApiToken}
Stop with Ctrl+C.`);
	const stop = (): void => void sandbox.close();
	process.once('SIGINT', stop);
	process.once('SIGTERM', stop);
}

function toNumber(name: string, text: string): number {
	const value = Number(text);
	if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
		throw new Error(`--${name} is a number, not "${text}"`);
	}
	return value;
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : String(error));
	process.exitCode = 1;
});
