/**
 * The files of this folder are the only ones that name a library which is not at hand where the
 * package runs. The build puts a bundle of the library in the place of each.
 */
export { generatePngQrCode } from '@juit/qrcode';
