// Loaded into the n8n that is measured: clears away on demand, and notes what the heap keeps ready.
const { writeFileSync } = require('node:fs');
const { PerformanceObserver } = require('node:perf_hooks');
const { getHeapSpaceStatistics } = require('node:v8');

let most = 0;

new PerformanceObserver(() => {
	const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
	most = Math.max(most, young?.physical_space_size ?? 0);
}).observe({ entryTypes: ['gc'] });

// The last resort also gives back what is kept for later use.
process.on('SIGUSR2', () => {
	globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
	most = 0;
});

process.on('SIGURG', () => {
	writeFileSync(process.env.BENCH_YOUNG_FILE, String(most));
});
