const OURS = /\/((?:nodes|credentials|vendor)\/[^:]*)\.ts$/;
/** What looks through a text on behalf of its caller. */
const ON_BEHALF = /^node:|\/node_modules\/(?:zod|lodash)\/|\/lookedThrough\.ts$/;
const MOST_FRAMES = 50;
/** Sorting such a run takes time by the square of its length. */
const LONG_RUN_OF_MARKS = /[\u0300-\u034e\u0350-\u036f]{32}/;

/**
 * The patterns of the package that look through a text longer than `longest` while a task runs, each
 * with its file: many a pattern takes time by the square of the length. `normalize` is listed if it
 * meets a long run of combining marks.
 */
export async function lookedThrough(
	longest: number,
	task: () => Promise<unknown>,
): Promise<string[]> {
	const { exec } = RegExp.prototype;
	const { normalize } = String.prototype;
	const found = new Set<string>();
	const seen = new WeakSet<RegExp>();
	RegExp.prototype.exec = function (text) {
		if (text?.length > longest && !seen.has(this)) {
			seen.add(this);
			const file = asker();
			if (file !== undefined) found.add(`${file}: ${this.source}`);
		}
		return exec.call(this, text);
	};
	String.prototype.normalize = function (form?: string) {
		const file = exec.call(LONG_RUN_OF_MARKS, String(this)) && asker();
		if (file) found.add(`${file}: normalize`);
		return normalize.call(this, form);
	};
	try {
		await task();
	} finally {
		RegExp.prototype.exec = exec;
		String.prototype.normalize = normalize;
	}
	return [...found].sort();
}

/** The file of the package that has asked for it, itself or through a library. */
function asker(): string | undefined {
	const { prepareStackTrace, stackTraceLimit } = Error;
	Error.stackTraceLimit = MOST_FRAMES;
	Error.prepareStackTrace = (_error, sites) => sites;
	const { stack } = new Error() as { stack?: unknown };
	Object.assign(Error, { prepareStackTrace, stackTraceLimit });
	// While another stack is prepared, which the package never does, there is only a text.
	if (!Array.isArray(stack)) return undefined;
	const files = (stack as NodeJS.CallSite[]).map((site) => site.getFileName() ?? 'node:');
	return OURS.exec(files.find((file) => !ON_BEHALF.test(file)) ?? '')?.[1];
}
