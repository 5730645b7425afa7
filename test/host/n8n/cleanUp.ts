import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { once } from './once';
import { onEnd } from './processes';

/** What has to be closed or removed in the end, also if this process is asked to end before. */
export class CleanUp {
	private readonly steps: Array<() => Promise<void>> = [];

	/** Runs the steps, the last one added first, and the others also if one fails. */
	readonly run = once(async () => await this.runSteps().finally(this.forget));

	private readonly forget = onEnd(this.run);

	add(step: () => Promise<void>): void {
		this.steps.push(step);
	}

	/** Makes a temporary folder that is removed again. */
	async folder(name: string): Promise<string> {
		const folder = await mkdtemp(path.join(tmpdir(), `digital-sales-${name}-`));
		this.add(async () => await rm(folder, { recursive: true, force: true, maxRetries: 3 }));
		return folder;
	}

	private async runSteps(): Promise<void> {
		const step = this.steps.pop();
		await step?.().finally(async () => await this.runSteps());
	}
}
