/** The used part of the official scanner, which has no types. */
declare module '@n8n/scan-community-package/scanner/scanner.mjs' {
	interface Analysis {
		passed: boolean;
		message?: string;
		/** ESLint's report, if it found something. */
		details?: string;
	}

	export const SOURCE_FILE_PATTERNS: string[];
	export function analyzePackage(folder: string, patterns?: string[]): Promise<Analysis>;
}
