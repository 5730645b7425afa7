import { cpus, loadavg, totalmem } from 'node:os';
import manifest from '../../../../package.json';
import { installHost } from '../../../host/n8n/host';
import { ROOT } from '../../../host/n8n/paths';
import { capture } from '../../../host/n8n/processes';

const GIB = 1_024 ** 3;

/** On what the figures were made. */
export interface Machine {
	cpu: string;
	cores: number;
	memoryGib: number;
	/** Of the last minute before the run began: other work on the machine makes figures worse. */
	load: number;
	/** What n8n runs on; the stand-ins run on the Node.js that started the bench. */
	node: string;
	benchNode: string;
	n8n: string;
	package: string;
	at: string;
}

/** Reads it from the machine; call it before the work begins. */
export async function readMachine(): Promise<Machine> {
	const host = await installHost();
	return {
		cpu: cpus()[0]?.model.trim() ?? 'unknown',
		cores: cpus().length,
		memoryGib: Math.round(totalmem() / GIB),
		load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
		node: await capture(host.node, ['--version'], ROOT),
		benchNode: process.version,
		n8n: await capture(host.node, [host.n8n, '--version'], ROOT),
		package: `${manifest.name} ${manifest.version}`,
		at: new Date().toISOString().slice(0, 10),
	};
}
