<?php
/*
 * Plugin Name: Carrel
 * Description: Gives every user a private, encrypted workspace in which to compare language models.
 * Version: 0.1.0
 * Requires at least: 6.1
 * Requires PHP: 7.4
 * License: Apache-2.0
 * Text Domain: carrel
 */

if ( ! defined( 'ABSPATH' ) ) {
    exit;
}

require __DIR__ . '/settings.php';
require __DIR__ . '/service.php';
require __DIR__ . '/signing-in.php';
require __DIR__ . '/workspace.php';
require __DIR__ . '/passwords.php';
require __DIR__ . '/membership.php';
require __DIR__ . '/leaving.php';
