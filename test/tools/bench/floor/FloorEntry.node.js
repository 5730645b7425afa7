const { performance } = require('node:perf_hooks');
const { setTimeout } = require('node:timers/promises');

const OPTIONS = { mode: 'entries', maxEntries: 5_000 };

/** The least that the ledger can do: it enters keys into a full row, and says how long each entry took. */
class FloorEntry {
	description = {
		displayName: 'Floor Entry',
		name: 'floorEntry',
		group: ['transform'],
		version: 1,
		description: 'What n8n itself takes to enter keys into its table of processed items',
		defaults: { name: 'Floor Entry' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [
			{ displayName: 'Entries', name: 'entries', type: 'number', default: 100 },
			{ displayName: 'Apart (ms)', name: 'apartMs', type: 'string', default: '0' },
		],
	};

	async execute() {
		const enter = async (keys) => await this.helpers.checkProcessedAndRecord(keys, 'node', OPTIONS);
		await enter(Array.from({ length: OPTIONS.maxEntries }, (_, nth) => `full ${nth}`));
		const times = [];
		for (let nth = 0; nth < this.getNodeParameter('entries', 0); nth++) {
			const start = performance.now();
			await enter([1, 2, 3, 4, 5].map((key) => `${start} ${nth} ${key}`));
			times.push(performance.now() - start);
			await setTimeout(Number(this.getNodeParameter('apartMs', 0)));
		}
		return [times.map((ms) => ({ json: { ms }, pairedItem: 0 }))];
	}
}

module.exports = { FloorEntry };
