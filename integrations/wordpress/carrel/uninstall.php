<?php
/* What the plugin stored in WordPress. The workspaces stay at the service, whose operator removes them. */

if ( ! defined( 'WP_UNINSTALL_PLUGIN' ) ) {
    exit;
}

foreach ( array( 'carrel_url', 'carrel_secret', 'carrel_paid_roles', 'carrel_product' ) as $carrel_name ) {
    delete_option( $carrel_name );
}
foreach ( get_users( array( 'blog_id' => 0, 'meta_key' => 'carrel_uuid', 'fields' => 'ID' ) ) as $carrel_id ) {
    delete_transient( 'carrel_token_' . $carrel_id );
}
/* Not carrel_uuid and carrel_made: without them, a plugin that is installed again would lose every workspace. */
delete_metadata( 'user', 0, 'carrel_told', '', true );
